"""People of the admin for tests: signed in, with nothing but the permissions that a test names."""

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User

VIEW = ("view_process", "view_version")
AUTHOR = (*VIEW, "add_version", "change_version")


def sign_in(client, *permissions, name="ada", superuser=False):
    user = User.objects.create_user(name, f"{name}@example.org", "pass-word-1", is_staff=True)
    user.is_superuser = superuser
    user.save()
    for codename in permissions:
        user.user_permissions.add(
            Permission.objects.get(content_type__app_label="processes", codename=codename)
        )
    client.force_login(user)
    return user


def logged():
    """What the admin's log says, oldest first."""
    return [entry.change_message for entry in LogEntry.objects.order_by("pk")]
