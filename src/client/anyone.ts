import { type Caller, createCaller } from './caller.ts'

/** The calls of a page without a session. A page repeats by itself, with its person before it. */
export const anyone: Caller = createCaller({
  url: '',
  credentials: null,
  storage: new Map(),
  patience: null,
})
