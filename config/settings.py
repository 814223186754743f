"""Settings: one flat file, read from the environment (12-factor), embedded defaults for a laptop.

Nothing has to be set to run; `docs/settings.md` lists what can be. Wrong combinations are system
checks with ids (`config/system_checks.py`, `checks/system_checks.py`).
"""

import secrets
from contextlib import suppress
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP

from config import environment as env
from config import uploads
from processes import logs

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.text("VAR_DIR") or BASE_DIR / "var")
VAR_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)  # sessions and run data are nobody else's


def _secret_key() -> str:
    """From the environment; embedded mode keeps one of its own in a file only its owner can read."""
    if key := env.text("SECRET_KEY"):
        return key
    path = VAR_DIR / "secret-key"
    if not path.exists():
        # written whole and then named, so that two servers starting at once agree on one
        draft = VAR_DIR / f"secret-key.{secrets.token_hex(4)}"
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(48))
        with suppress(FileExistsError):
            path.hardlink_to(draft)
        draft.unlink()
    if not (key := path.read_text().strip()):
        raise ImproperlyConfigured(f"{path} is empty; delete it or set SECRET_KEY.")
    return key


DEBUG = env.flag("DEBUG", default=False)
SECRET_KEY = _secret_key()
SECRET_KEY_FALLBACKS = env.words("SECRET_KEY_FALLBACKS")
SITE_URL = env.text("SITE_URL", "http://127.0.0.1:8000").rstrip("/")
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")
CSRF_FAILURE_VIEW = "approvals.screens.refused.csrf"

INSTALLED_APPS = [
    "config.apps.ConfigConfig",
    "config.apps.CountersignAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_htmx",
    "checks.apps.ChecksConfig",
    "processes.apps.ProcessesConfig",
    "approvals.apps.ApprovalsConfig",
]
MIDDLEWARE = [
    "processes.logs.Requests",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "approvals.bodies.Bodies",  # before anything reads a form
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DATABASES = {"default": env.database("DATABASE_URL", str(VAR_DIR / "countersign.sqlite3"))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Embedded: tasks run in process. Scaled: a broker's address turns that off.
CELERY_BROKER_URL = env.text("BROKER_URL")
CELERY_TASK_ALWAYS_EAGER = not CELERY_BROKER_URL
CELERY_TASK_EAGER_PROPAGATES = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_IGNORE_RESULT = True  # but for checks, which a request waits for
# a broker that keeps results itself (Redis) keeps ours; for another one, RESULT_URL
CELERY_RESULT_BACKEND = env.text("RESULT_URL") or (
    CELERY_BROKER_URL if CELERY_BROKER_URL.startswith("redis") else None
)
CELERY_RESULT_EXPIRES = 600
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A task that nobody acknowledged comes again; not while a check may still be asked (twice, and something to spare).
EVALUATOR_SECONDS = env.seconds("EVALUATOR_SECONDS", 60.0, least=0.1)  # for one asking
VISIBLE_AGAIN_SECONDS = max(300, int(2 * EVALUATOR_SECONDS) + 60)
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {"visibility_timeout": VISIBLE_AGAIN_SECONDS, "socket_connect_timeout": 2, "socket_timeout": 30}
    if CELERY_BROKER_URL.startswith("redis")
    else {"confirm_publish": True, "connect_timeout": 2}
)
CELERY_TIMEZONE = "UTC"
# one that no worker took before the next ones came is not worth keeping
CELERY_BEAT_SCHEDULE = {
    "wake": {"task": "processes.wake", "schedule": 10.0, "options": {"expires": 30}},
}

# What processes count together. A Redis that is there for the broker serves for it, too.
CACHE_URL = env.redis("CACHE_URL") or next(
    (url for url in (CELERY_RESULT_BACKEND or "", CELERY_BROKER_URL) if url.startswith("redis")), ""
)
_ALONE = {
    "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
    "OPTIONS": {"MAX_ENTRIES": 100_000},  # nobody makes it forget a count by making others
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": CACHE_URL,
        "KEY_PREFIX": "countersign",
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
    }
    if CACHE_URL
    else {**_ALONE, "LOCATION": "default"},
    "alone": {**_ALONE, "LOCATION": "alone"},  # see checks.memory
}

LANGUAGE_CODE = "en-gb"
TIME_ZONE = env.text("TIME_ZONE", "UTC")
USE_TZ = True

STATIC_URL = "static/"
# collected there where it is set (an image), or by whoever runs another server for the files
STATIC_ROOT = Path(env.text("STATIC_ROOT") or VAR_DIR / "static")
STATIC_ROOT.mkdir(exist_ok=True)
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = not env.text("STATIC_ROOT")  # a clone serves its files without a collectstatic step
MEDIA_ROOT = Path(env.text("UPLOADS_DIR") or VAR_DIR / "uploads")
STORAGES = {
    "default": uploads.storage(),
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

AUTHENTICATION_BACKENDS = ["processes.callers.Sessions"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "queue"

# No inline script or style, no eval, nothing from elsewhere; forms post home, nobody frames us.
SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
HTTPS = SITE_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SECURE_SSL_REDIRECT = False  # the proxy in front does that; see docs/settings.md
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
BEHIND_PROXY = env.flag("BEHIND_PROXY", default=False)
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],  # views open up by name
    "UNAUTHENTICATED_USER": None,
    # whose address counts: what the one proxy saw, or the connection's own
    "NUM_PROXIES": 1 if BEHIND_PROXY else 0,
}

# The protocol's limits (units in the names). A request body is bounded by what its tool may carry.
LEASE_SECONDS = env.whole("LEASE_SECONDS", 600, least=1)
RUN_DATA_BYTES = env.whole("RUN_DATA_BYTES", 262_144, least=1024)
MAX_UPLOAD_BYTES = env.whole("MAX_UPLOAD_BYTES", 10 * 1024 * 1024, least=1)
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_UPLOAD_BYTES * 4 // 3 + 65_536
# a page's form, files and all
MAX_FORM_BYTES = 4 * MAX_UPLOAD_BYTES + 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
REQUEST_RESULT_DAYS = env.whole("REQUEST_RESULT_DAYS", 30, least=1, most=3650)  # after a run's end
FILE_URL_SECONDS = env.whole("FILE_URL_SECONDS", 600, least=10)

# What one caller may hold or do. Generous: they are there for loops that run away, not for work. 0 calls = no bound.
LIVE_CLAIMS_PER_AGENT = env.whole("LIVE_CLAIMS_PER_AGENT", 200, least=1)
LIVE_RUNS_PER_CALLER = env.whole("LIVE_RUNS_PER_CALLER", 10_000, least=1)
UPLOADS_PER_DAY = env.whole("UPLOADS_PER_DAY", 5_000, least=1)
UPLOAD_BYTES_PER_DAY = env.whole("UPLOAD_BYTES_PER_DAY", 10 * 1024**3, least=1, most=2**60)
CALLS_PER_MINUTE = env.whole("CALLS_PER_MINUTE", 6_000)
ANONYMOUS_CALLS_PER_MINUTE = env.whole("ANONYMOUS_CALLS_PER_MINUTE", 600)

# Who answers a check's questions. Unset = nobody: check-1 is not offered.
EVALUATOR = env.text("EVALUATOR") or "none"
EVALUATOR_URL = env.text("EVALUATOR_URL").rstrip("/")
EVALUATOR_MODEL = env.text("EVALUATOR_MODEL")
EVALUATOR_KEY = env.text("EVALUATOR_KEY")
# For presets that EVALUATOR names (groq,workers_ai): an account that stands in an address.
EVALUATOR_ACCOUNT = env.text("EVALUATOR_ACCOUNT")
# Their keys, and those that evaluators in the admin may choose among by name; and hosts that those may reach though private.
EVALUATOR_KEYS = env.named("EVALUATOR_KEY_")
EVALUATOR_PRIVATE_HOSTS = env.words("EVALUATOR_PRIVATE_HOSTS")
# A call waits this long for its check; and at most half of a server process's threads wait at once.
CHECK_WAIT_SECONDS = env.seconds("CHECK_WAIT_SECONDS", 25.0, least=0.1)
SERVER_THREADS = env.whole("SERVER_THREADS", 8, least=1)

# Whether steps may declare facts (our profile facts-1).
FACTS_1 = env.flag("FACTS_1", default=False)

# What one key of the judge API may do in a day, and how long what it asks to keep is kept.
JUDGE_CALLS_PER_DAY = env.whole("JUDGE_CALLS_PER_DAY", 2_000)
# and how often one address may try it without a key; 0 = no bound
JUDGE_TRIES_PER_MINUTE = env.whole("JUDGE_TRIES_PER_MINUTE", 20)
RETAIN_DAYS = env.whole("RETAIN_DAYS", 30, least=1, most=3650)
# Where facts about chains are read; see checks/facts. An address may hold a key, so it is never shown.
BASE_RPC_URL = env.text("BASE_RPC_URL", "https://mainnet.base.org")
SOLANA_RPC_URL = env.text("SOLANA_RPC_URL", "https://api.mainnet-beta.solana.com")

# What signs receipts: a key of the environment's, or in embedded mode one of a file that only its owner can read.
RECEIPT_KEY = env.text("RECEIPT_KEY")
RECEIPT_KEY_FILE = Path(env.text("RECEIPT_KEY_FILE") or VAR_DIR / "receipt-key")
RECEIPT_CHECKPOINT_SECONDS = env.whole("RECEIPT_CHECKPOINT_SECONDS", 3600, least=10)

# A worker that is told to stop at once (SIGQUIT) still lets the checks in hand end.
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 2 * EVALUATOR_SECONDS + 10

LOGGING = logs.configuration(
    env.choice("LOG_FORMAT", "text", ["text", "json"]), env.text("LOG_LEVEL", "INFO")
)
