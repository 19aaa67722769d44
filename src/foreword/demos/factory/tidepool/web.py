"""The HTTP routes: all that harbours ever see."""

from starlette.requests import Request
from starlette.responses import JSONResponse

from tidepool.stations import readings
from tidepool.turns import Reading, turns


def forecast(db, station: str) -> dict[str, object]:
    """The last turn that the readings of a station show."""
    found = turns([Reading(at, height) for at, height in readings(db, station)])
    return {"station": station, "turn": found[-1].at_utc if found else None}


async def next_turn(request: Request) -> JSONResponse:
    """The turn of the tide at a station."""
    station = request.path_params["station"]
    return JSONResponse(forecast(request.app.state.db, station))
