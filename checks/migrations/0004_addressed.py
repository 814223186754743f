"""Whether the material of a verdict speaks to whoever judges it."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('checks', '0003_judge')]

    operations = [
        migrations.AddField(
            model_name='verdict',
            name='addressed',
            field=models.BooleanField(default=False, help_text='the material speaks to whoever judges it'),
        ),
    ]
