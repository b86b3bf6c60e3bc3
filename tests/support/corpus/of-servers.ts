import type { CorpusEntry } from './corpus-entry.ts'

/** Databases, add-ons, tokens, services: what only loaders import. */
export const OF_SERVERS: readonly CorpusEntry[] = [
  {
    // Its add-on is compiled where no binary is there for this Node: the database of the next entry is opened.
    name: 'better-sqlite3',
    install: ['better-sqlite3@12.11.1', '@types/better-sqlite3@9.6.0'],
    server: [`import Database from 'better-sqlite3'`, `typeof Database.prototype.prepare + ' of SQLite'`],
    shows: ['function of SQLite'],
  },
  {
    name: 'libsql',
    install: ['@libsql/client@0.18.0'],
    server: [
      `import { createClient } from '@libsql/client'`,
      `String((await createClient({ url: ':memory:' }).execute('select 40 + 2 as level')).rows[0]?.['level'])`,
    ],
    shows: ['42'],
  },
  {
    name: 'bcrypt',
    install: ['bcrypt@6.0.0', '@types/bcrypt@6.0.0'],
    scripts: ['bcrypt'],
    server: [
      `import bcrypt from 'bcrypt'`,
      `String(await bcrypt.compare('mill', await bcrypt.hash('mill', 4))) + ' secret'`,
    ],
    shows: ['true secret'],
  },
  {
    name: 'argon2',
    install: ['argon2@0.45.1'],
    scripts: ['argon2'],
    server: [
      `import argon2 from 'argon2'`,
      `String(await argon2.verify(await argon2.hash('mill', { memoryCost: 1024 }), 'mill')) + ' hash'`,
    ],
    shows: ['true hash'],
  },
  {
    name: 'sharp',
    install: ['sharp@0.35.5'],
    server: [
      `import sharp from 'sharp'`,
      `(await sharp({ create: { width: 3, height: 2, channels: 3, background: 'teal' } }).png().toBuffer({ resolveWithObject: true })).info.width + ' wide'`,
    ],
    shows: ['3 wide'],
  },
  {
    name: 'pg',
    install: ['pg@8.23.1', '@types/pg@8.23.1'],
    server: [`import pg, { Client } from 'pg'`, `pg.escapeIdentifier('mills') + typeof Client`],
    shows: ['"mills"function'],
  },
  {
    name: 'mysql2',
    install: ['mysql2@3.24.6'],
    server: [
      `import mysql from 'mysql2/promise'\nimport { escape } from 'mysql2'`,
      `escape('mill') + typeof mysql.createPool`,
    ],
    shows: [`'mill'function`],
  },
  {
    name: 'mongodb',
    install: ['mongodb@7.9.0'],
    server: [
      `import { MongoClient, ObjectId } from 'mongodb'`,
      `typeof MongoClient + new ObjectId('65f000000000000000000000').toHexString()`,
    ],
    shows: ['function65f000000000000000000000'],
  },
  {
    name: 'ioredis',
    install: ['ioredis@6.0.0'],
    server: [`import Redis from 'ioredis'`, `new Redis({ lazyConnect: true }).status + ' for Redis'`],
    shows: ['wait for Redis'],
  },
  {
    name: 'knex',
    install: ['knex@3.3.0'],
    server: [`import knex from 'knex'`, `knex({ client: 'pg' })('mills').where('id', 1).toQuery()`],
    shows: ['select * from "mills" where "id" = 1'],
  },
  {
    name: 'kysely',
    install: ['kysely@0.28.19'],
    server: [
      `import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'`,
      `new Kysely<{ mills: { id: number } }>({ dialect: { createAdapter: () => new SqliteAdapter(), createDriver: () => new DummyDriver(), createIntrospector: (db) => new SqliteIntrospector(db), createQueryCompiler: () => new SqliteQueryCompiler() } }).selectFrom('mills').select('id').compile().sql`,
    ],
    shows: ['select "id" from "mills"'],
  },
  {
    name: 'drizzle-orm',
    install: ['drizzle-orm@0.45.4'],
    server: [
      `import { eq } from 'drizzle-orm'\nimport { integer, QueryBuilder, sqliteTable } from 'drizzle-orm/sqlite-core'\nconst mills = sqliteTable('mills', { id: integer('id') })`,
      `new QueryBuilder().select().from(mills).where(eq(mills.id, 1)).toSQL().sql`,
    ],
    shows: ['select "id" from "mills" where "mills"."id" = ?'],
  },
  {
    name: 'jsonwebtoken',
    install: ['jsonwebtoken@9.0.3', '@types/jsonwebtoken@9.0.10'],
    server: [
      `import jwt from 'jsonwebtoken'`,
      `JSON.stringify(jwt.verify(jwt.sign({ mill: 1 }, 'key', { noTimestamp: true }), 'key'))`,
    ],
    shows: ['{"mill":1}'],
  },
  {
    name: 'jose',
    install: ['jose@6.2.18'],
    server: [
      `import { SignJWT, decodeJwt } from 'jose'`,
      `JSON.stringify(decodeJwt(await new SignJWT({ gate: 2 }).setProtectedHeader({ alg: 'HS256' }).sign(new Uint8Array(32))))`,
    ],
    shows: ['{"gate":2}'],
  },
  {
    name: 'aws-sdk-s3',
    install: ['@aws-sdk/client-s3@3.1175.0', '@aws-sdk/s3-request-presigner@3.1169.0'],
    server: [
      `import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'\nimport { getSignedUrl } from '@aws-sdk/s3-request-presigner'`,
      `(await getSignedUrl(new S3Client({ region: 'eu-central-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } }), new GetObjectCommand({ Bucket: 'mills', Key: 'upper' }))).split('?')[0] ?? ''`,
    ],
    shows: ['mills.s3.eu-central-1.amazonaws.com/upper'],
  },
  {
    name: 'stripe',
    install: ['stripe@23.1.0'],
    server: [`import Stripe from 'stripe'`, `typeof new Stripe('sk_test').checkout.sessions.create + ' of Stripe'`],
    shows: ['function of Stripe'],
  },
  {
    name: 'openai',
    install: ['openai@6.49.0'],
    server: [`import OpenAI from 'openai'`, `new OpenAI({ apiKey: 'none' }).baseURL`],
    shows: ['https://api.openai.com/v1'],
  },
  {
    name: 'anthropic',
    install: ['@anthropic-ai/sdk@1.14.0'],
    server: [`import Anthropic from '@anthropic-ai/sdk'`, `new Anthropic({ apiKey: 'none' }).baseURL`],
    shows: ['https://api.anthropic.com'],
  },
  {
    name: 'nodemailer',
    install: ['nodemailer@10.6.1', '@types/nodemailer@8.0.2'],
    server: [
      `import nodemailer from 'nodemailer'`,
      `String((await nodemailer.createTransport({ jsonTransport: true }).sendMail({ to: 'a@example.com', text: 'mill' })).envelope.to[0])`,
    ],
    shows: ['a@example.com'],
  },
  {
    name: 'winston',
    install: ['winston@3.19.0'],
    server: [`import winston from 'winston'`, `winston.createLogger({ silent: true }).level + ' level'`],
    shows: ['info level'],
  },
]
