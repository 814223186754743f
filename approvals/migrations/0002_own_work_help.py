"""What the rule on one's own work tells of itself."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('approvals', '0001_initial')]

    operations = [
        migrations.AlterField(
            model_name='grouprule',
            name='forbid_own_work',
            field=models.BooleanField(
                default=False,
                help_text="Members can't decide on what they, or an agent they vouch for, have worked. "
                'Where that leaves nobody of the group as an item opens, it goes to the operators.',
                verbose_name="never on one's own work",
            ),
        ),
    ]
