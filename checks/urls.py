from django.urls import path

from checks.judge import api

urlpatterns = [
    path("judge", api.judge, name="judge"),
    path("consensus", api.consensus, name="consensus"),
]
