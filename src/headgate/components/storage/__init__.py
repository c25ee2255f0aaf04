"""Files of connections: S3, SFTP, WebDAV and folders of the server, over fsspec."""
