from django.urls import path

from checks.judge import api, usage
from checks.receipts import api as receipts

urlpatterns = [
    path("judge", api.judge, name="judge"),
    path("consensus", api.consensus, name="consensus"),
    path("usage", usage.usage, name="usage"),
    path("receipts/verify", receipts.verify, name="verify_receipt"),
]
