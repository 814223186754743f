from django.contrib.auth.views import LogoutView
from django.urls import path

from approvals.screens.case import case, evidence_file
from approvals.screens.decide import decide
from approvals.screens.queue import queue, queue_news
from approvals.signing_in import SignIn

urlpatterns = [
    path("", queue, name="queue"),
    path("news/", queue_news, name="queue_news"),
    path("items/<str:item>/", case, name="case"),
    path("items/<str:item>/decide/", decide, name="decide"),
    path("items/<str:item>/files/<str:ref>/", evidence_file, name="evidence"),
    # our own, because the admin's refuses people who are no staff
    path("sign-in/", SignIn.as_view(), name="sign_in"),
    path("sign-out/", LogoutView.as_view(next_page="sign_in"), name="sign_out"),
]
