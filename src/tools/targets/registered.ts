/** Targets of kinds that a host application registered. */
import { AppError } from '../../errors.ts';
import { registeredTarget, type Target } from '../../service/jobs/request/target.ts';
import type { RowStore } from '../../ports/row-sink.ts';
import { localFolder } from '../session/remote-sources.ts';
import type { ToolSession } from '../session/tool-session.ts';
import type { KindOfTarget } from './kind.ts';

/** time for which a job waits for others that write into the same place */
const lockTimeoutMs = 15 * 60_000;

type RegisteredKind = Extract<Target, { kind: 'registered' }>;

export const registeredKind: KindOfTarget<RegisteredKind> = {
  hasFormats: false,
  hasVersions: false,
  ddlDialect: (_, { scheme }) => registeredTarget(scheme)!.dialect ?? 'postgresql',
  async openSink(session, target) {
    const { createStoreRowSink } = await import('../../targets/files/folder/sink.ts');
    const { jobMark } = await import('../../targets/files/folder/place.ts');
    const { takeAdvisoryLock } = await import('../../postgres/connect.ts');
    return createStoreRowSink({
      store: await openStore(session, target),
      label: target.location,
      jobMark: jobMark(session.idJob, session.jobUuid),
      staging: localFolder(session, 'out'),
      // all machines have the metadata database in common
      lock: () =>
        takeAdvisoryLock(
          session.home.sql,
          `conversion-job-service ${session.idOrg} ${target.location}`,
          lockTimeoutMs,
        ),
    });
  },
  async openSource(session, target) {
    const { createStoreRowSource } = await import('../../targets/files/folder/source.ts');
    const store = await openStore(session, target);
    return createStoreRowSource(store, target.location, localFolder(session, 'tables'));
  },
  async openRemover(_, { location }) {
    throw new AppError(
      'invalid_option',
      `-i ${location}: unload cannot remove documents there; load the others again with -S o`,
    );
  },
  whatWasRun: [],
};

async function openStore(session: ToolSession, { scheme, text }: RegisteredKind): Promise<RowStore> {
  const { outUser = null, outPassword = null } = session.request;
  return registeredTarget(scheme)!.open({
    text,
    idOrg: session.idOrg,
    user: outUser,
    password: outPassword,
    signal: session.interrupted,
  });
}
