# build → runtime: what docker-compose.yml runs. gpu: the same with libtensorflow for CUDA; gpu-python: with Python and torch, for
# plugins in Python. Each for its profile of that name.
FROM node:20.20.2-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:20.20.2-bookworm-slim AS runtime
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
ENTRYPOINT ["node", "/app/dist/src/commands/cli/main.js"]

# Its installer downloads libtensorflow, hence a stage of its own that nobody needs who has no GPU. --save-prod: npm leaves out what
# package.json has as an optional peer.
FROM build AS build-gpu
RUN npm install --no-save --save-prod --omit=dev --no-audit --no-fund @tensorflow/tfjs-node-gpu@4.22.0

FROM nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04 AS gpu
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build-gpu /app/package.json ./
COPY --from=build-gpu /app/node_modules ./node_modules
COPY --from=build-gpu /app/dist ./dist
USER 1000:1000
ENTRYPOINT ["node", "/app/dist/src/commands/cli/main.js"]

# The Python package, as it is published.
FROM python:3.12.12-slim-bookworm AS build-python
WORKDIR /app
COPY . .
RUN python3 -m venv .build && .build/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir wheels ./python

# torch from PyPI brings the CUDA runtime along; of CUDA only the driver is the host's (nvidia-container-toolkit).
FROM python:3.12.12-slim-bookworm AS gpu-python
ENV NODE_ENV=production
ENV DFX_PYTHON=/opt/python/bin/python
WORKDIR /app
RUN python3 -m venv /opt/python && /opt/python/bin/python -m pip install --no-cache-dir --disable-pip-version-check torch==2.13.0
COPY --from=build-python /app/wheels /tmp/wheels
RUN /opt/python/bin/python -m pip install --no-cache-dir --disable-pip-version-check /tmp/wheels/*.whl
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER 1000:1000
ENTRYPOINT ["node", "/app/dist/src/commands/cli/main.js"]
