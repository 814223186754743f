from django.apps import AppConfig


class ProcessesConfig(AppConfig):
    name = "processes"
    verbose_name = "Processes"

    def ready(self) -> None:
        from checks.receipts import salts, sources
        from processes import publishing, receipting, runs
        from processes.models import HistoryEntry, Version

        sources.add(receipting.CHAIN, HistoryEntry)
        sources.add(receipting.PROCESS_CHAIN, Version)
        salts.forgetters["run"] = runs.forget_salt
        salts.forgetters["publication"] = publishing.forget_salt
