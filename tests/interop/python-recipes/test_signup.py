"""test_signup.py - tests that Django and Flask accept no leaked passwords and reject few other
passwords."""

import hashlib

import breached_passwords
import django
import flask_signup
import pytest
from django.conf import settings

LEAKED = [f"hunter{number}" for number in range(5_000)]
OTHERS = [f"a far better one {number}" for number in range(5_000)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    made = tmp_path_factory.mktemp("signup")
    digests = [hashlib.sha1(password.encode()).hexdigest().upper() for password in LEAKED]
    (made / "sha1.txt").write_text("".join(f"{digest}:3\r\n" for digest in digests))
    path = str(made / "breached.petal")
    with open(made / "sha1.txt", "rb") as lines:
        breached_passwords.build(lines, len(LEAKED)).save(path)
    return path


def judge(accepts):
    assert not any(map(accepts, LEAKED))
    assert sum(map(accepts, OTHERS)) >= 5_000 - 20  # 5 at 0.001


def test_flask(path):
    flask_signup.app.config["BREACHED"] = path
    client = flask_signup.app.test_client()

    def accepts(password):
        answer = client.post("/signup", data={"name": "ann", "password": password})
        assert answer.status_code in (201, 422)
        return answer.status_code == 201

    judge(accepts)


def test_django(path):
    name = "django_signup.BreachedPasswordValidator"
    settings.configure(AUTH_PASSWORD_VALIDATORS=[{"NAME": name, "OPTIONS": {"path": path}}])
    django.setup()
    from django.contrib.auth.password_validation import (
        password_validators_help_texts,
        validate_password,
    )
    from django.core.exceptions import ValidationError

    def accepts(password):
        try:
            validate_password(password)
            return True
        except ValidationError as error:
            assert error.error_list[0].code == "password_breached"
            return False

    judge(accepts)
    assert len(password_validators_help_texts()) == 1


def test_as_a_program(example, path, tmp_path):
    source = path.replace("breached.petal", "sha1.txt")
    example("breached_passwords.py", source, tmp_path / "again.petal", 5_000)
    assert (tmp_path / "again.petal").read_bytes() == open(path, "rb").read()
