"""Where docs/recipes/oauth.md puts tokens, for all replicas."""

import json
import os
import pathlib
from typing import Any, Literal

from sealwax import Principal


async def store(principal: Principal | Literal["anonymous"], tokens: Any) -> None:
    with pathlib.Path(os.environ["ACCOUNTS"]).open("a") as file:
        file.write(f"{json.dumps({'principal': principal, 'tokens': tokens})}\n")
