from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    name = "approvals"
    verbose_name = "Approvals"

    def ready(self) -> None:
        """Fill the seams that `processes` declares."""
        from approvals import policy, queue, rules
        from processes import seams

        seams.preparations.append(rules.prepare)
        seams.policies.append(policy.own_work)
        seams.shortages.append(policy.nobody_impartial)
        seams.observers.append(queue.follow)
