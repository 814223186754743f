from django.urls import path

from processes import api

urlpatterns = [
    path("files/<str:signed>", api.file, name="file"),
    path("<slug:tool>", api.ToolView.as_view(), name="tool"),
]
