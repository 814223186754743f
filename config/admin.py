"""The admin's frame, which every screen of Countersign stands in."""

from django.contrib.admin import AdminSite


class CountersignAdminSite(AdminSite):
    site_header = "Countersign"
    site_title = "Countersign"
    index_title = "Settings"
    site_url = "/"
    enable_nav_sidebar = False
