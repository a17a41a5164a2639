/** A file store that a host gave, with locations that the service tells from paths of this machine. */
import { AppError } from '../../errors.ts';
import type { BucketFolder, DecidingStore, FileStore, JobFiles } from '../../ports/files.ts';

/** Begins every location that is no path of this machine. */
const remoteScheme = 'object:';

/** Returns the location as the store itself has it. */
function own(location: string): string {
  return location.slice(remoteScheme.length);
}

/** Returns the store itself if its locations are paths. */
export function withRemoteLocations(store: FileStore): FileStore {
  if (store.local) return store;
  const create: FileStore['create'] = (location, bytes) => store.create!(own(location), bytes);
  return {
    local: false,
    ...(store.create === undefined ? {} : { create }),
    resolve: async (...path) => remoteScheme + (await store.resolve(...path)),
    async *listFiles(location, scan) {
      for await (const file of store.listFiles(own(location), scan))
        yield { ...file, location: remoteScheme + file.location };
    },
    read: (location, range) => store.read(own(location), range),
    write: (location, body) => store.write(own(location), body),
    discard: (location) => store.discard(own(location)),
    usedBytes: (idOrg) => store.usedBytes(idOrg),
    saveUpload: (...upload) => store.saveUpload(...upload),
    removeFile: (idOrg, path) => store.removeFile(idOrg, path),
    removeUploads: (which) => store.removeUploads(which),
  };
}

/** Returns a folder of a store, whose objects are its files. */
export function folderOfStore(files: JobFiles, location: string): BucketFolder {
  const shown = location.startsWith(remoteScheme) ? own(location) : location;
  return { objects: objectsOf(files), location: shown, prefix: `${location}/` };
}

/** The files of a store as objects whose keys are their locations. */
function objectsOf(files: JobFiles): DecidingStore {
  const head: DecidingStore['head'] = async (key) => {
    for await (const { location, bytes, modified, version } of files.listFiles(key))
      if (location === key) return { key, bytes, modified, version };
    return null;
  };
  return {
    head,
    read: (key, range) => files.read(key, range),
    write: (key, body) => files.write(key, body),
    removeObject: (key) => files.discard(key),
    async *listObjects(prefix) {
      for await (const { location, bytes, modified, version } of files.listFiles(
        prefix.slice(0, prefix.lastIndexOf('/')),
      ))
        if (location.startsWith(prefix)) yield { key: location, bytes, modified, version };
    },
    async createObject(key, bytes) {
      if (files.create !== undefined) return files.create(key, bytes);
      throw new AppError(
        'invalid_option',
        'the file store of this service cannot tell new files from existing ones (FileStore.create), which tables of Delta Lake and Iceberg need: choose another format with -f, such as parquet, or a bucket',
      );
    },
  };
}
