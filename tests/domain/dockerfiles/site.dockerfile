# Made by Slipway from what it found in the project.
FROM debian:bookworm-slim AS build
USER 0:0
WORKDIR "/app/site"
COPY ["[l]ist","/app/"]
RUN ["/bin/sh","-c","true"]
COPY [".","/app/"]
ARG SLIPWAY_ENVIRONMENT="one"
RUN ["/bin/sh","-c","mkdir dist && cat page > dist/index.html"]
