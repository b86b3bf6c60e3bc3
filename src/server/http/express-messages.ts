import type { Express } from 'express'
import { IncomingMessage, ServerResponse } from 'node:http'

/** The classes of requests and responses, as options of `createServer`. */
export interface MessageClasses {
  readonly IncomingMessage: typeof IncomingMessage
  readonly ServerResponse: typeof ServerResponse<IncomingMessage>
}

/**
 * Makes classes whose instances are Express's requests and responses from the start. Express gives the objects of Node's
 * own classes another prototype, each of them, and all code that touches them afterwards, Node's own too, meets objects of
 * two shapes. An object that has the prototype already is left as it is. To be called before the application is used.
 *
 * They are derived classes, because only for those V8 makes room for what the constructors of Node put into an object.
 */
export function messageClassesOf(app: Express): MessageClasses {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse extends ServerResponse {}
  takeOver(ExpressRequest.prototype, app.request)
  takeOver(ExpressResponse.prototype, app.response)
  Object.assign(app, { request: ExpressRequest.prototype, response: ExpressResponse.prototype })
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse }
}

/** Makes a prototype all that the one of an application is. */
function takeOver(prototype: object, made: object): void {
  Object.setPrototypeOf(prototype, Object.getPrototypeOf(made) as object)
  Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(made))
}
