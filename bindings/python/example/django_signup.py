"""Makes Django reject leaked passwords wherever a password is set. Add to settings.py:

    AUTH_PASSWORD_VALIDATORS = [
        {
            "NAME": "django_signup.BreachedPasswordValidator",
            "OPTIONS": {"path": "/srv/breached.petal"},
        },
    ]
"""

from breached_passwords import is_breached
from django.core.exceptions import ValidationError


class BreachedPasswordValidator:
    def __init__(self, path: str) -> None:
        self.path = path

    def validate(self, password: str, user: object = None) -> None:
        if is_breached(password, self.path):
            raise ValidationError(
                "This password is on a list of leaked ones.", code="password_breached"
            )

    def get_help_text(self) -> str:
        return "Your password must not be on a list of leaked ones."
