package shop.billing;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * What a customer owes.
 */
public class Invoice {
    private static final BigDecimal LIMIT = new BigDecimal("10000");

    private final String number;
    private final List<Line> lines = new ArrayList<>();
    private boolean sent;

    public Invoice(String number) {
        if (number == null || number.isBlank()) {
            throw new IllegalArgumentException("an invoice needs a number");
        }
        this.number = number;
    }

    /** Adds a line; an invoice that was sent takes none. */
    public void add(Line line) {
        if (sent) {
            throw new IllegalStateException(number + " was sent");
        }
        lines.add(line);
    }

    public BigDecimal total() {
        BigDecimal sum = BigDecimal.ZERO;
        for (Line line : lines) {
            sum = sum.add(line.price().multiply(BigDecimal.valueOf(line.count())));
        }
        return sum;
    }

    /** Whether somebody has to look at it before it goes out. */
    public boolean needsApproval() {
        return total().compareTo(LIMIT) > 0;
    }

    public synchronized void send(Post post) {
        if (needsApproval() && !post.isApproved(number)) {
            throw new IllegalStateException("nobody approved " + number);
        }
        post.deliver(number, total());
        sent = true;
    }

    public interface Post {
        boolean isApproved(String number);

        void deliver(String number, BigDecimal total);
    }

    public record Line(String what, BigDecimal price, int count) {
        public Line {
            if (count < 1) {
                throw new IllegalArgumentException("a line needs a count");
            }
        }
    }
}
