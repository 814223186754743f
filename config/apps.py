from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class ConfigConfig(AppConfig):
    name = "config"
    verbose_name = "Countersign"

    def ready(self) -> None:
        from config import system_checks

        system_checks.register()


class CountersignAdminConfig(AdminConfig):
    default_site = "config.admin.CountersignAdminSite"
