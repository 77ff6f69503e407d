# Made by Slipway from what it found in the project.
FROM debian:bookworm-slim AS manifests
USER 0:0
WORKDIR /app
COPY [".","/app/"]
RUN ["/bin/sh","-c","mkdir /manifests; for path; do [ ! -f \"$path\" ] || cp --parents -- \"$path\" /manifests/ || exit 1; done","sh","list"]

FROM debian:bookworm-slim AS build
USER 0:0
WORKDIR "/app/site"
COPY --from=manifests ["/manifests/","/app/"]
RUN ["/bin/sh","-c","true"]
COPY [".","/app/"]
ARG SLIPWAY_ENVIRONMENT="one"
RUN ["/bin/sh","-c","mkdir dist && cat page > dist/index.html"]
