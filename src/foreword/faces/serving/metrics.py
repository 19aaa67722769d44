"""What the server has done so far, in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
# Seconds: from what the store answers at once to the longest a request may take by default.
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
LIMITS = (*map(str, BUCKETS), "+Inf")
# whatever is no route of ours: paths are made by clients, and must not fill the memory
OTHER = "other"
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class Metrics:
    """Counts of one server process; used by its event loop alone."""

    def __init__(self) -> None:
        self._requests = Counter[tuple[str, str, int]]()
        self._buckets: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._seconds = Counter[str]()

    def count(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests[route, method if method in METHODS else OTHER, status] += 1
        self._buckets[route][bisect_left(BUCKETS, seconds)] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]

    def to_text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """The metrics in the text format of Prometheus; `gauges` are current values, by name: what
        each means, and its value."""
        lines = [*self._request_lines(), *self._time_lines()]
        for name, (meaning, value) in gauges.items():
            lines += [
                f"# HELP foreword_{name} {meaning}",
                f"# TYPE foreword_{name} gauge",
                f"foreword_{name} {value:g}",
            ]
        return "\n".join(lines) + "\n"

    def _request_lines(self) -> Iterator[str]:
        yield "# HELP foreword_http_requests_total Requests that were answered."
        yield "# TYPE foreword_http_requests_total counter"
        for (route, method, status), count in sorted(self._requests.items()):
            labels = f'route="{route}",method="{method}",status="{status}"'
            yield f"foreword_http_requests_total{{{labels}}} {count}"

    def _time_lines(self) -> Iterator[str]:
        yield "# HELP foreword_http_request_seconds How long requests took."
        yield "# TYPE foreword_http_request_seconds histogram"
        for route, buckets in sorted(self._buckets.items()):
            count = 0
            for limit, requests in zip(LIMITS, buckets, strict=True):
                count += requests
                yield (
                    f'foreword_http_request_seconds_bucket{{route="{route}",le="{limit}"}} {count}'
                )
            yield f'foreword_http_request_seconds_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            yield f'foreword_http_request_seconds_count{{route="{route}"}} {count}'
