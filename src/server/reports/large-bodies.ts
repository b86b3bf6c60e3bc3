/**
 * Bodies of large envelopes in `reports.sqlite`, in pieces. To write twenty megabytes at once takes tenths of a second of
 * the event loop; here each piece is a transaction of its own, in a turn of its own. A row of the spool or the inbox names
 * the body once all of it is written, and takes it along when it is deleted. Pieces that no row names are left by a
 * process that ended: after an hour the next large body removes them.
 */
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { joinInTurns } from '../http/body/join-in-turns.ts'
import type { Database } from '../stores/open-database.ts'

/** Larger bodies are written in pieces of this size, in bytes: some 2 ms each. */
export const PIECE_BYTES = 262_144
/** Small writes that fill as much of the log, as `createCheckpointThread` counts them. */
const PIECE_WRITES = 32
const ABANDONED_MS = 3_600_000

/** The migration that adds them to `SPOOL_TABLES` and `INBOX_TABLES`. */
export const LARGE_BODY_TABLES = `
CREATE TABLE report_pieces (
  name TEXT NOT NULL,
  position INTEGER NOT NULL,
  written_at INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
CREATE INDEX report_pieces_order ON report_pieces (name, position);
CREATE INDEX report_pieces_age ON report_pieces (written_at);
ALTER TABLE spool ADD COLUMN pieces TEXT;
CREATE INDEX spool_pieces ON spool (pieces) WHERE pieces IS NOT NULL;
ALTER TABLE inbox ADD COLUMN pieces TEXT;
CREATE INDEX inbox_pieces ON inbox (pieces) WHERE pieces IS NOT NULL;
CREATE TRIGGER inbox_pieces_removed AFTER DELETE ON inbox WHEN old.pieces IS NOT NULL BEGIN
  DELETE FROM report_pieces WHERE name = old.pieces;
END;
`

const INSERT = 'INSERT INTO report_pieces (name, position, written_at, bytes) VALUES (?, ?, ?, ?)'
const READ = 'SELECT bytes FROM report_pieces WHERE name = ? AND position = ?'
const REMOVE = 'DELETE FROM report_pieces WHERE name = ?'
const REMOVE_ABANDONED = `
DELETE FROM report_pieces WHERE written_at < ?
  AND name NOT IN (SELECT pieces FROM spool WHERE pieces IS NOT NULL)
  AND name NOT IN (SELECT pieces FROM inbox WHERE pieces IS NOT NULL)`

/** Writes and reads the pieces. */
export interface LargeBodies {
  /**
   * Writes a body, one piece a turn of the event loop.
   * @param at milliseconds since the epoch.
   * @param keep makes the row that names it. If it throws, or nothing is written, no piece stays.
   * @throws errors of the database and of `keep`.
   */
  write<Result>(body: Buffer, at: number, keep: (name: string) => Result | Promise<Result>): Promise<Result>
  /** Reads a body in the same way. If its row was deleted meanwhile, it ends early. */
  read(name: string): Promise<Buffer>
}

/**
 * @param wrote called after each piece, with the number of small writes that it is worth.
 * @param turn ends the turn of the event loop.
 */
export function createLargeBodies(
  database: Database,
  wrote: (writes: number) => void = () => undefined,
  turn: () => Promise<unknown> = nextTurn,
): LargeBodies {
  /** One body at a time: several at once would be several pieces a turn. */
  let last: Promise<unknown> = Promise.resolve()

  async function writePieces(name: string, body: Buffer, at: number): Promise<void> {
    for (let position = 0; position * PIECE_BYTES < body.length; position += 1) {
      const start = position * PIECE_BYTES
      const piece = body.subarray(start, start + PIECE_BYTES)
      database.write(() => {
        if (position === 0) database.statement(REMOVE_ABANDONED).run(Math.trunc(at) - ABANDONED_MS)
        database.statement(INSERT).run(name, position, Math.trunc(at), piece)
      })
      wrote(PIECE_WRITES)
      await turn()
    }
  }

  function removePieces(name: string): void {
    try {
      database.write(() => database.statement(REMOVE).run(name))
    } catch {
      // The fault that is thrown already; the next large body removes them later.
    }
  }

  return {
    async write(body, at, keep) {
      const name = randomUUID()
      const written = last.then(() => writePieces(name, body, at))
      last = written.catch(() => undefined)
      try {
        await written
        return await keep(name)
      } catch (thrown) {
        removePieces(name)
        throw thrown
      }
    },
    async read(name) {
      const pieces: Buffer[] = []
      for (const piece of piecesOf(database, name)) {
        pieces.push(piece)
        await turn()
      }
      return await joinInTurns(pieces, turn)
    },
  }
}

/** The pieces of a body, in order, read one by one. */
export function* piecesOf(database: Pick<Database, 'statement'>, name: string): Generator<Buffer, void> {
  for (let position = 0; ; position += 1) {
    const bytes = database.statement(READ).get(name, position)?.['bytes'] as Uint8Array | undefined
    if (bytes === undefined) return
    yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
}
