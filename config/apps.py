from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class ConfigConfig(AppConfig):
    name = "config"
    verbose_name = "Countersign"


class CountersignAdminConfig(AdminConfig):
    default_site = "config.admin.CountersignAdminSite"
