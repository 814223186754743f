"""What the facts of a step's work came to."""

import django.utils.timezone
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):

    dependencies = [('checks', '0004_addressed')]

    operations = [
        migrations.CreateModel(
            name='FactResult',
            fields=[
                (
                    'id',
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name='ID'
                    ),
                ),
                ('about', models.UUIDField()),
                ('asked', models.PositiveSmallIntegerField(default=1)),
                ('position', models.PositiveSmallIntegerField()),
                ('type', models.CharField(max_length=40)),
                ('path', models.CharField(max_length=300)),
                ('passed', models.BooleanField()),
                ('unreachable', models.BooleanField(default=False)),
                ('detail', models.TextField()),
                ('evidence_hash', models.CharField(max_length=64, null=True)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ['about', 'asked', 'position'],
                'constraints': [
                    models.UniqueConstraint(fields=('about', 'asked', 'position'), name='fact_result_once'),
                    models.CheckConstraint(
                        condition=Q(passed=False) | Q(unreachable=False), name='fact_unreachable_never_passed'
                    ),
                ],
            },
        ),
    ]
