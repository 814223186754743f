"""`gunicorn -c config/gunicorn.py config.wsgi`: threads that keep their database connections, and an end that loses nothing.

One process (WEB_CONCURRENCY) is what embedded mode is made for; scaled, as many as there are processors.
"""

import os

from config import environment as env
from processes import logs

bind = os.environ.get("BIND", "127.0.0.1:8000")
workers = env.whole("WEB_CONCURRENCY", 1, least=1)
worker_class = "gthread"
threads = env.whole("SERVER_THREADS", 8, least=1)
control_socket_disable = True  # one door less; signals do what is needed

# A call that waits for its check is answered before its process ends; whatever stops us must wait longer.
graceful_timeout = int(env.seconds("CHECK_WAIT_SECONDS", 25.0, least=0.1)) + 10
timeout = graceful_timeout + 30
# A process is renewed now and then; a single one is not, for nobody would answer meanwhile.
max_requests = 20_000 if workers > 1 else 0
max_requests_jitter = max_requests // 10

_logging = logs.configuration(
    env.choice("LOG_FORMAT", "text", ["text", "json"]), env.text("LOG_LEVEL", "INFO")
)
logconfig_dict = {
    **_logging,
    # no access log: paths may hold signed addresses, and every request has a line of its own as JSON
    "loggers": {
        **_logging["loggers"],
        "gunicorn.error": {"level": env.text("LOG_LEVEL", "INFO"), "propagate": True},
        "gunicorn.access": {"level": "CRITICAL", "propagate": False, "handlers": []},
    },
}
