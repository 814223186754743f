"""An index of the requests whose results are still kept, by which they are forgotten some days after the run's end."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("processes", "0005_receipts"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="request",
            index=models.Index(
                condition=models.Q(models.Q(("result", ""), _negated=True), ("run__isnull", False)),
                fields=["at"],
                name="request_result_kept",
            ),
        ),
    ]
