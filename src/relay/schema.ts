import type { Schema } from '../db/migrations.ts'
import text from './schema.sql' with { type: 'text' }

/** The schema of the relay's events. */
export const relaySchema: Schema = { text, steps: {} }
