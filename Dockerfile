# The command spadework in a slim image: one process, no root. EXTRAS are those of pyproject.toml.
FROM python:3.13-slim

ARG EXTRAS=postgres,embeddings
RUN useradd --uid 10001 --create-home spadework && install --directory --owner spadework /data
WORKDIR /src
COPY pyproject.toml requirements.lock README.md LICENSE ./
COPY src src
# The lock holds versions of everything; only what the command needs is installed of it.
RUN pip install --no-cache-dir --constraint requirements.lock ".[${EXTRAS}]"

USER spadework
WORKDIR /home/spadework
ENV SPADEWORK_HOME=/data PYTHONUNBUFFERED=1
VOLUME /data
EXPOSE 8051
# As the only process it is told of SIGTERM itself, and drains.
ENTRYPOINT ["spadework"]
CMD ["serve", "--host", "0.0.0.0"]
