// Elysia reads NODE_ENV once, when it is loaded. Unless it is `production`, a refused value is printed whole and
// more than once. The operator's environment must not decide that.
process.env.NODE_ENV = 'production'
