import { z } from 'zod'
import type { User } from '../accounts/users.server.ts'
import { databaseIn, type Where } from '../database.server.ts'
import { writeMail } from '../mail.server.ts'
import { FILTERS, STATUSES, TOPICS, type Status } from './kinds.ts'

export const newTicket = z.object({
  subject: z.string().max(120, 'long').trim().min(1, 'empty'),
  topic: z.enum(TOPICS, 'empty'),
  text: z.string().max(10_000, 'long').trim().min(1, 'empty'),
})
export type NewTicket = z.output<typeof newTicket>

export const filters = z.object({
  q: z.string().max(100).catch(FILTERS.q),
  status: z.enum(['all', ...STATUSES]).catch(FILTERS.status),
  page: z.coerce.number().int().min(1).max(10_000).catch(FILTERS.page),
})
export type Filters = z.output<typeof filters>

type Names = Record<'customer' | 'customerName', string> & Record<'agent' | 'agentName', string | null>
type Numbers = Record<'id' | 'created' | 'updated', number>
export type Ticket = Readonly<Omit<NewTicket, 'text'> & Names & Numbers & { status: Status }>
export type SavedFile = Readonly<Record<'id' | 'name', string>> // in the folder of files, under its id
type CommentRow = Readonly<Record<'id' | 'at', number> & Record<'author' | 'text', string> & Pick<User, 'role'>>
type Said = Readonly<{ text: string; files: readonly SavedFile[]; other: User | undefined }> // `other` is told by mail
type Change = Readonly<Record<'id' | 'at', number> & { name: string; status: Status }>

const PER_PAGE = 10
const SELECT = `SELECT t.*, c.name AS customerName, a.name AS agentName
  FROM tickets t JOIN users c ON c.id = t.customer LEFT JOIN users a ON a.id = t.agent`
const FILTER = `WHERE (:all = 1 OR t.customer = :user) AND (:status = 'all' OR t.status = :status)
  AND (instr(lower(t.subject), :q) > 0 OR '#' || t.id = :q) ORDER BY t.updated DESC, t.id DESC LIMIT :most OFFSET :from`
const COMMENTS = 'SELECT m.*, name AS author, role FROM comments m JOIN users u ON u.id = author WHERE ticket = ?'
const CHANGES = 'SELECT c.*, name FROM changes c JOIN users u ON u.id = actor WHERE ticket = ? ORDER BY c.id DESC'

/** The tags of what a change of a ticket makes stale. */
export const tagsOf = ({ id, customer }: Ticket): string[] => [`ticket:${id}`, 'tickets', `tickets:${customer}`]

/** The tag of the list that somebody sees. */
export const listTag = ({ role, id }: User): string => (role === 'agent' ? 'tickets' : `tickets:${id}`)

export function listTickets(where: Where, { role, id: user }: User, { q, status, page }: Filters) {
  const [all, from] = [role === 'agent' ? 1 : 0, (page - 1) * PER_PAGE]
  const filter = { all, user, status, q: q.trim().toLowerCase(), most: PER_PAGE + 1, from }
  const rows = databaseIn(where).statement(`${SELECT} ${FILTER}`).all(filter) as unknown as Ticket[]
  return { tickets: rows.slice(0, PER_PAGE), hasMore: rows.length > PER_PAGE }
}

/** The ticket, if this user may see it. */
export function findTicket(where: Where, user: User, id: string): Ticket | undefined {
  const ticket = databaseIn(where).statement(`${SELECT} WHERE t.id = ?`).get(id) as Ticket | undefined
  return user.role === 'agent' || ticket?.customer === user.id ? ticket : undefined
}

export function commentsOf(where: Where, { id }: Ticket) {
  const { statement } = databaseIn(where)
  const files = statement('SELECT id, name FROM files WHERE comment = ?')
  const rows = statement(COMMENTS).all(id) as unknown as CommentRow[]
  return rows.map((row) => ({ ...row, files: files.all(row.id) as unknown as SavedFile[] }))
}

/** The changes of its status, newest first. */
export async function historyOf(where: Where, { id }: Ticket): Promise<Change[]> {
  return databaseIn(where).statement(CHANGES).all(id) as unknown as Change[]
}

function insertComment(where: Where, ticket: number, { id: author }: User, { text, files }: Omit<Said, 'other'>): void {
  const { statement } = databaseIn(where)
  const insert = statement('INSERT INTO comments (ticket, author, text, at) VALUES (?, ?, ?, ?)')
  const { lastInsertRowid } = insert.run(ticket, author, text, where.now())
  for (const { id, name } of files) statement('INSERT INTO files VALUES (?, ?, ?)').run(id, lastInsertRowid, name)
}

export function addTicket(where: Where, user: User, fields: NewTicket, files: readonly SavedFile[]): number {
  const database = databaseIn(where)
  return database.write(() => {
    const insert = database.statement("INSERT INTO tickets VALUES (NULL, ?, ?, 'open', ?, NULL, ?, ?)")
    const { lastInsertRowid } = insert.run(fields.subject, fields.topic, user.id, where.now(), where.now())
    const id = Number(lastInsertRowid)
    changeStatus(where, id, user, 'open')
    insertComment(where, id, user, { text: fields.text, files })
    writeMail(where, user, 'received', { ticket: id, text: fields.text })
    return id
  })
}

/** What a customer says opens the ticket again; the agent who answers first is its agent. */
export function addComment(where: Where, ticket: Ticket, author: User, { text, files, other }: Said): void {
  const database = databaseIn(where)
  database.write(() => {
    insertComment(where, ticket.id, author, { text, files })
    const agent = ticket.agent ?? (author.role === 'agent' ? author.id : null)
    const change = database.statement('UPDATE tickets SET agent = ?, updated = ? WHERE id = ?')
    change.run(agent, where.now(), ticket.id)
    if (author.role === 'customer' && ticket.status !== 'open') changeStatus(where, ticket.id, author, 'open')
    if (other !== undefined) writeMail(where, other, 'answered', { ticket: ticket.id, text })
  })
}

export function changeStatus(where: Where, ticket: number, { id: actor }: User, status: Status): void {
  const { statement } = databaseIn(where)
  statement('UPDATE tickets SET status = ?, updated = ? WHERE id = ?').run(status, where.now(), ticket)
  statement('INSERT INTO changes VALUES (NULL, ?, ?, ?, ?)').run(ticket, actor, status, where.now())
}

export function editTicket(where: Where, { id }: Ticket, { subject, topic }: Omit<NewTicket, 'text'>): void {
  databaseIn(where).statement('UPDATE tickets SET subject = ?, topic = ? WHERE id = ?').run(subject, topic, id)
}
