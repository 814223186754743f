"""The way to a file's signed address: for whoever may read the case, and for what its run cites."""

import pytest
from django.conf import settings

from processes.callers import of_user
from processes.models import Upload

pytestmark = pytest.mark.django_db


def test_a_download_goes_through_a_fresh_signed_address(client, ada, desk):
    run = desk.supplier()
    item, ref = desk.item(run), Upload.objects.get().pk
    client.force_login(ada)
    response = client.get(f"/items/{item}/files/{ref}/")
    assert response.status_code == 302
    assert response["Location"].startswith(f"{settings.SITE_URL}/v1/files/{ref}:")
    other = desk.upload("another.txt")
    assert client.get(f"/items/{item}/files/{other}/").status_code == 404
    assert client.get(f"/items/w_none/files/{ref}/").status_code == 404
    client.logout()
    assert client.get(f"/items/{item}/files/{ref}/")["Location"].startswith("/sign-in/")


def test_only_what_is_cited_is_opened(client, ada, desk):
    """An output may name any file: that is no evidence, and nobody looked whether its author may cite it."""
    desk.supplier("Other")
    other = Upload.objects.get().pk
    run = desk.supplier(output={"cleared": True, "note": other})
    client.force_login(ada)
    assert client.get(f"/items/{desk.item(run)}/files/{other}/").status_code == 404
    desk.decide(of_user(ada), run, "completed")  # now it stands in run data, too
    assert client.get(f"/items/{desk.item(run)}/files/{other}/").status_code == 404
    mine = Upload.objects.exclude(pk=other).get().pk
    assert client.get(f"/items/{desk.item(run)}/files/{mine}/").status_code == 302
