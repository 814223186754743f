"""A step counts its attempts; the latest is live while the step is open, so no column says it a second time."""

from django.db import migrations, models
from django.db.models import Max, OuterRef, Subquery


def count(apps, schema_editor):
    step, attempt = apps.get_model("processes", "Step"), apps.get_model("processes", "Attempt")
    latest = attempt.objects.filter(step=OuterRef("pk")).values("step").annotate(n=Max("number")).values("n")
    step.objects.filter(attempts__isnull=False).update(activations=Subquery(latest))


def mark(apps, schema_editor):
    attempt = apps.get_model("processes", "Attempt")
    attempt.objects.exclude(step__state__in=["ready", "claimed", "waiting"]).update(live=False)
    attempt.objects.exclude(number=models.F("step__activations")).update(live=False)


class Migration(migrations.Migration):

    dependencies = [('processes', '0002_waits_and_events')]

    operations = [
        migrations.AddField(
            model_name='step',
            name='activations',
            field=models.PositiveIntegerField(default=0, help_text='the number of its latest attempt'),
        ),
        migrations.RunPython(count, migrations.RunPython.noop),
        migrations.RemoveConstraint(model_name='attempt', name='attempt_one_live'),
        migrations.RunPython(migrations.RunPython.noop, mark),
        migrations.RemoveField(model_name='attempt', name='live'),
    ]
