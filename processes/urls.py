from django.urls import path

from processes import api, docs

urlpatterns = [
    path("schema", docs.schema, name="schema"),
    path("docs", docs.docs, name="docs"),
    path("files/<str:signed>", api.file, name="file"),
    path("<slug:tool>", api.ToolView.as_view(), name="tool"),
]
