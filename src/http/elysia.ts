import assert from 'node:assert/strict'
import './production.ts'
import { Elysia, ValidationError } from 'elysia'
import { isProduction } from 'elysia/error'

assert(isProduction, 'Elysia was loaded before its mode was set')

export { Elysia, ValidationError }
