from django.apps import AppConfig


class ChecksConfig(AppConfig):
    name = "checks"
    verbose_name = "Checks"

    def ready(self) -> None:
        from checks import system_checks
        from checks.facts import system_checks as facts_checks

        system_checks.register()
        facts_checks.register()
