"""A Flask sign-up form that rejects leaked passwords (and one in a thousand other passwords).

    BREACHED=breached.petal flask --app flask_signup run
"""

import os

from breached_passwords import is_breached
from flask import Flask, request

app = Flask(__name__)
app.config["BREACHED"] = os.environ.get("BREACHED", "breached.petal")


@app.post("/signup")
def signup() -> tuple[dict[str, str], int]:
    if is_breached(request.form["password"], app.config["BREACHED"]):
        return {"error": "This password is on a list of leaked ones."}, 422
    return {"welcome": request.form["name"]}, 201
