import type { Express } from 'express'
import { IncomingMessage, ServerResponse } from 'node:http'

/** The request and response classes, as options of `createServer`. */
export interface MessageClasses {
  readonly IncomingMessage: typeof IncomingMessage
  readonly ServerResponse: typeof ServerResponse<IncomingMessage>
}

/**
 * Makes classes whose instances are Express's requests and responses from the start. Express replaces the prototype of
 * each Node object, and all code that touches it afterwards, Node's included, meets objects of two shapes. An object
 * that already has the prototype is left alone. Call this before the application is used.
 *
 * The classes are derived: only for derived classes does V8 reserve space for the fields that Node's constructors set.
 */
export function messageClassesOf(app: Express): MessageClasses {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse extends ServerResponse {}
  takeOver(ExpressRequest.prototype, app.request)
  takeOver(ExpressResponse.prototype, app.response)
  Object.assign(app, { request: ExpressRequest.prototype, response: ExpressResponse.prototype })
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse }
}

/** Gives a prototype the parent and the properties of an application's own one. */
function takeOver(prototype: object, made: object): void {
  Object.setPrototypeOf(prototype, Object.getPrototypeOf(made) as object)
  Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(made))
}
