"""What the bounds of one caller are counted by, and the beats of clock and workers."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('processes', '0003_attempts_by_number'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Heartbeat',
            fields=[
                ('name', models.CharField(max_length=20, primary_key=True, serialize=False)),
                ('since', models.DateTimeField(help_text='of beats that did not stop in between')),
                ('at', models.DateTimeField()),
            ],
        ),
        migrations.AlterField(
            model_name='attempt',
            name='claimed_by',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='processes.agent'),
        ),
        migrations.AddIndex(
            model_name='attempt',
            index=models.Index(fields=['claimed_by', 'lease_until'], name='attempt_held_by'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('state__in', ['active', 'waiting'])), fields=['started_by'], name='run_live_by'),
        ),
        migrations.AddIndex(
            model_name='upload',
            index=models.Index(fields=['by', 'at'], name='upload_by_day'),
        ),
    ]
