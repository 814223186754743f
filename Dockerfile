# Countersign's image: docker build -t countersign .
# With uploads in an S3-compatible store: docker build --build-arg REQUIREMENTS=requirements-s3.txt -t countersign .
FROM python:3.13-slim AS packages
ARG REQUIREMENTS=requirements.txt
COPY requirements.txt requirements-s3.txt /build/
RUN python -m venv /opt/venv \
 && /opt/venv/bin/pip install --no-cache-dir --no-deps --require-hashes -r /build/${REQUIREMENTS}

FROM python:3.13-slim
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    DJANGO_SETTINGS_MODULE=config.settings \
    VAR_DIR=/var/lib/countersign \
    STATIC_ROOT=/srv/countersign/collected \
    LOG_FORMAT=json \
    BIND=0.0.0.0:8000
RUN useradd --system --uid 10001 --no-create-home countersign \
 && install --directory --owner=countersign --mode=0700 /var/lib/countersign /var/lib/countersign/uploads
WORKDIR /srv/countersign
COPY --from=packages /opt/venv /opt/venv
COPY manage.py LICENSE ./
COPY config config
COPY checks checks
COPY processes processes
COPY approvals approvals
COPY templates templates
COPY static static
COPY examples examples
# the key signs nothing here, and stays in no layer
RUN SECRET_KEY=collecting VAR_DIR=/tmp/collecting python manage.py collectstatic --noinput --verbosity 0 \
 && rm -r /tmp/collecting
USER countersign
EXPOSE 8000
CMD ["gunicorn", "-c", "config/gunicorn.py", "config.wsgi"]
