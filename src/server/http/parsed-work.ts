import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

// By name: an application and the server of its host may have two copies of this module.
const PARSED = Symbol.for('millrace.parsed')

/** The latest answer to a request without `Host`. */
const LATEST = Symbol('millrace.nameless')

interface FollowedSocket extends Socket {
  [PARSED]?: () => void
  [LATEST]?: ServerResponse
}

/** Calls back for what Node's parser makes of one read besides the first request: each costs some ten microseconds. */
export function onParsed(socket: FollowedSocket, listener: () => void): void {
  socket[PARSED] = listener
}

/** A request that was sent before the previous one was answered, or as much other work. */
export function noteParsed(socket: FollowedSocket): void {
  socket[PARSED]?.()
}

/** To be called for each request, whatever becomes of it. */
export function noteRequest(socket: Socket, res: ServerResponse): void {
  // Node gives the socket to an answer when it is the first in line.
  if (res.socket === null) noteParsed(socket)
}

/** Calls back for each request of any server of this process, before Node itself may refuse it: a host may have it ask for a `Host`. */
export function watchNameless(): void {
  // Once, for all servers.
  unsubscribe('http.server.request.start', noteNameless)
  subscribe('http.server.request.start', noteNameless)
}

function noteNameless(message: unknown): void {
  const { request, response, socket } = message as {
    readonly request: IncomingMessage
    readonly response: ServerResponse
    readonly socket: FollowedSocket
  }
  if (request.headers.host !== undefined || socket[PARSED] === undefined) return
  if (socket[LATEST]?.writableFinished === false) noteParsed(socket)
  socket[LATEST] = response
}
