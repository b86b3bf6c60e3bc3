/**
 * Packages that instrumentations of OpenTelemetry and of error SDKs replace as Node loads them, and the instrumentations
 * themselves, which keep their state in their module. In a bundle they would be neither found nor shared. From the lists of
 * `@opentelemetry/auto-instrumentations-node` and `@sentry/node`.
 */
const INSTRUMENTED: ReadonlySet<string> = new Set([
  '@anthropic-ai/sdk',
  '@google/genai',
  '@grpc/grpc-js',
  '@hapi/hapi',
  '@koa/router',
  '@mistralai/mistralai',
  '@neondatabase/serverless',
  '@nestjs/core',
  '@prisma/client',
  '@redis/client',
  'ai',
  'amqplib',
  'aws-sdk',
  'bunyan',
  'cassandra-driver',
  'connect',
  'dataloader',
  'dd-trace',
  'express',
  'fastify',
  'generic-pool',
  'graphql',
  'groq-sdk',
  'h3',
  'hono',
  'import-in-the-middle',
  'ioredis',
  'kafkajs',
  'knex',
  'koa',
  'langchain',
  'lru-memoizer',
  'memcached',
  'mongodb',
  'mongoose',
  'mysql',
  'mysql2',
  'newrelic',
  'openai',
  'oracledb',
  'pg',
  'pg-pool',
  'pino',
  'postgres',
  'redis',
  'require-in-the-middle',
  'restify',
  'router',
  'socket.io',
  'tedious',
  'together-ai',
  'undici',
  'winston',
])

const INSTRUMENTED_SCOPES = /^@(?:aws-sdk|firebase|google-cloud|langchain|opentelemetry|sentry|smithy)\//

/** Of these scopes, what pages import. */
const FOR_BROWSERS = /^@sentry\/(?:react|browser)/

/** Whether a package is left to Node wherever it is listed. */
export function isInstrumented(name: string): boolean {
  return INSTRUMENTED.has(name) || (INSTRUMENTED_SCOPES.test(name) && !FOR_BROWSERS.test(name))
}
