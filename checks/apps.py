from django.apps import AppConfig


class ChecksConfig(AppConfig):
    name = "checks"
    verbose_name = "Checks"

    def ready(self) -> None:
        from checks import system_checks
        from checks.facts import system_checks as facts_checks
        from checks.judge import storing
        from checks.models import JudgeCall
        from checks.receipts import salts, sources
        from checks.receipts import system_checks as receipt_checks

        system_checks.register()
        facts_checks.register()
        receipt_checks.register()
        sources.add("key:", JudgeCall)
        salts.forgetters["call"] = storing.forget_salt
