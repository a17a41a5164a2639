/** What the database's driver uses of `node:tls`, loaded with the first connection that is encrypted. */
export default { connect: (...args) => process.getBuiltinModule('node:tls').connect(...args) };
