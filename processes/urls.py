from django.urls import path

from processes import api, docs, health

urlpatterns = [
    path("schema", docs.schema, name="schema"),
    path("docs", docs.docs, name="docs"),
    path("health", health.health, name="health"),
    path("files/<str:signed>", api.file, name="file"),
    path("runs/<str:run>/facts", api.OfRun.as_view(what="facts"), name="run_facts"),
    path("runs/<str:run>/receipts", api.OfRun.as_view(what="receipts"), name="run_receipts"),
    path("<slug:tool>", api.ToolView.as_view(), name="tool"),
    path("<path:rest>", api.nowhere, name="nowhere"),
]
