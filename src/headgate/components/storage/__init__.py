"""Files of connections: S3, Google Cloud Storage, Azure, SFTP, WebDAV and folders of the server, over fsspec."""
