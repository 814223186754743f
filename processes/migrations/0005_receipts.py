"""Receipts on verdicts, decisions and publications, and where a run's chain ends."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('checks', '0006_receipts'),
        ('processes', '0004_bounds_and_heartbeats'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='historyentry',
            name='chain',
            field=models.CharField(editable=False, max_length=100, null=True),
        ),
        migrations.AddField(
            model_name='historyentry',
            name='receipt',
            field=models.TextField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='historyentry',
            name='seen',
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name='historyentry',
            name='seq',
            field=models.PositiveIntegerField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='historyentry',
            name='signed_at',
            field=models.DateTimeField(db_index=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='receipt_head',
            field=models.CharField(blank=True, max_length=43),
        ),
        migrations.AddField(
            model_name='run',
            name='receipts',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='run',
            name='salt',
            field=models.BinaryField(null=True),
        ),
        migrations.AddField(
            model_name='version',
            name='chain',
            field=models.CharField(editable=False, max_length=100, null=True),
        ),
        migrations.AddField(
            model_name='version',
            name='receipt',
            field=models.TextField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='version',
            name='salt',
            field=models.BinaryField(help_text='opens its receipt; null once forgotten', null=True),
        ),
        migrations.AddField(
            model_name='version',
            name='seq',
            field=models.PositiveIntegerField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='version',
            name='signed_at',
            field=models.DateTimeField(db_index=True, editable=False, null=True),
        ),
        migrations.AddConstraint(
            model_name='historyentry',
            constraint=models.UniqueConstraint(fields=('chain', 'seq'), name='history_one_receipt_a_place'),
        ),
        migrations.AddConstraint(
            model_name='historyentry',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('chain__isnull', True), ('receipt__isnull', True), ('seq__isnull', True), ('signed_at__isnull', True)), models.Q(('chain__isnull', False), ('receipt__isnull', False), ('seq__gte', 1), ('seq__isnull', False), ('signed_at__isnull', False)), _connector='OR'), name='history_receipt_all_or_none'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('receipt_head', ''), ('receipts', 0)), models.Q(('receipts__gte', 1), models.Q(('receipt_head', ''), _negated=True)), _connector='OR'), name='run_head_of_its_receipts'),
        ),
        migrations.AddConstraint(
            model_name='version',
            constraint=models.UniqueConstraint(fields=('chain', 'seq'), name='version_one_receipt_a_place'),
        ),
        migrations.AddConstraint(
            model_name='version',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('chain__isnull', True), ('receipt__isnull', True), ('seq__isnull', True), ('signed_at__isnull', True)), models.Q(('chain__isnull', False), ('receipt__isnull', False), ('seq__gte', 1), ('seq__isnull', False), ('signed_at__isnull', False)), _connector='OR'), name='version_receipt_all_or_none'),
        ),
    ]
