/**
 * node:http, as CommonJS gets it. An `import` has Node read all that the module exports, and
 * one of these loads a client of WebSockets, which takes a tenth of a server's start.
 */
export const http = process.getBuiltinModule('node:http')
