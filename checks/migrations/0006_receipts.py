"""Receipts beside the rows that they are about, the keys that sign them, checkpoints, and salts that may go."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('checks', '0005_fact_results'),
    ]

    operations = [
        migrations.CreateModel(
            name='CallSalt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('salt', models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name='Checkpoint',
            fields=[
                ('chain', models.CharField(editable=False, max_length=100, null=True)),
                ('seq', models.PositiveIntegerField(editable=False, null=True)),
                ('receipt', models.TextField(editable=False, null=True)),
                ('signed_at', models.DateTimeField(db_index=True, editable=False, null=True)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('covers_until', models.DateTimeField()),
            ],
            options={
                'ordering': ['-seq'],
            },
        ),
        migrations.CreateModel(
            name='CheckpointHead',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain', models.CharField(max_length=100)),
                ('seq', models.PositiveIntegerField()),
                ('hash', models.CharField(max_length=43)),
            ],
        ),
        migrations.CreateModel(
            name='SigningKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kid', models.CharField(editable=False, max_length=43, unique=True)),
                ('x', models.CharField(editable=False, max_length=43, verbose_name='public key')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('retired_at', models.DateTimeField(editable=False, null=True)),
                ('revoked_at', models.DateTimeField(editable=False, null=True)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.AddField(
            model_name='judgecall',
            name='chain',
            field=models.CharField(editable=False, max_length=100, null=True),
        ),
        migrations.AddField(
            model_name='judgecall',
            name='receipt',
            field=models.TextField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='judgecall',
            name='seq',
            field=models.PositiveIntegerField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='judgecall',
            name='signed_at',
            field=models.DateTimeField(db_index=True, editable=False, null=True),
        ),
        migrations.AddConstraint(
            model_name='judgecall',
            constraint=models.UniqueConstraint(fields=('chain', 'seq'), name='judge_call_one_receipt_a_place'),
        ),
        migrations.AddConstraint(
            model_name='judgecall',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('chain__isnull', True), ('receipt__isnull', True), ('seq__isnull', True), ('signed_at__isnull', True)), models.Q(('chain__isnull', False), ('receipt__isnull', False), ('seq__gte', 1), ('seq__isnull', False), ('signed_at__isnull', False)), _connector='OR'), name='judge_call_receipt_all_or_none'),
        ),
        migrations.AddField(
            model_name='callsalt',
            name='call',
            field=models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='salt', to='checks.judgecall'),
        ),
        migrations.AddConstraint(
            model_name='checkpoint',
            constraint=models.UniqueConstraint(fields=('chain', 'seq'), name='checkpoint_one_receipt_a_place'),
        ),
        migrations.AddConstraint(
            model_name='checkpoint',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('chain__isnull', True), ('receipt__isnull', True), ('seq__isnull', True), ('signed_at__isnull', True)), models.Q(('chain__isnull', False), ('receipt__isnull', False), ('seq__gte', 1), ('seq__isnull', False), ('signed_at__isnull', False)), _connector='OR'), name='checkpoint_receipt_all_or_none'),
        ),
        migrations.AddConstraint(
            model_name='checkpoint',
            constraint=models.CheckConstraint(condition=models.Q(('receipt__isnull', False)), name='checkpoint_is_signed'),
        ),
        migrations.AddField(
            model_name='checkpointhead',
            name='checkpoint',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='heads', to='checks.checkpoint'),
        ),
        migrations.AddConstraint(
            model_name='signingkey',
            constraint=models.CheckConstraint(condition=models.Q(('retired_at__isnull', True), ('retired_at__gte', models.F('created_at')), _connector='OR'), name='signing_key_made_before_retired'),
        ),
        migrations.AddConstraint(
            model_name='signingkey',
            constraint=models.CheckConstraint(condition=models.Q(('revoked_at__isnull', True), ('revoked_at__gte', models.F('created_at')), _connector='OR'), name='signing_key_made_before_revoked'),
        ),
        migrations.AddConstraint(
            model_name='checkpointhead',
            constraint=models.UniqueConstraint(fields=('chain', 'seq'), name='checkpoint_head_covered_once'),
        ),
    ]
