// Line 0 of a license that nobody asked for.
// Line 1 of a license that nobody asked for.
// Line 2 of a license that nobody asked for.
// Line 3 of a license that nobody asked for.
// Line 4 of a license that nobody asked for.
// Line 5 of a license that nobody asked for.
// Line 6 of a license that nobody asked for.
// Line 7 of a license that nobody asked for.
// Line 8 of a license that nobody asked for.
// Line 9 of a license that nobody asked for.
// Line 10 of a license that nobody asked for.
// Line 11 of a license that nobody asked for.
// Line 12 of a license that nobody asked for.
// Line 13 of a license that nobody asked for.
// Line 14 of a license that nobody asked for.
// Line 15 of a license that nobody asked for.
// Line 16 of a license that nobody asked for.
// Line 17 of a license that nobody asked for.
// Line 18 of a license that nobody asked for.
// Line 19 of a license that nobody asked for.
// Line 20 of a license that nobody asked for.
// Line 21 of a license that nobody asked for.
// Line 22 of a license that nobody asked for.
// Line 23 of a license that nobody asked for.
// Line 24 of a license that nobody asked for.
// Line 25 of a license that nobody asked for.
// Line 26 of a license that nobody asked for.
// Line 27 of a license that nobody asked for.
// Line 28 of a license that nobody asked for.
// Line 29 of a license that nobody asked for.

#include <vector>

/**
 * Moves an amount from one account to another.
 *
 * It takes the lock of both, the lower number first, and
 * gives up where one of them is closed.
 */
int move(Account &from, Account &to, long amount)
{
    if (from.balance < amount) {
        return 1;
    }
    return 0;
}
