"""Storages of files, and repositories."""

from headgate.features.connections.catalogue.fields import HOST, HOSTS, PASSWORD, URL, USER
from headgate.features.connections.kinds import Kind, KindField

_FOLDER = KindField("folder", "Folder", "Paths of flows begin in it; leave empty for the complete storage.")

KINDS = (
    Kind(
        "s3",
        "S3 and compatible",
        "Object storage: Amazon S3, MinIO, Ceph, Cloudflare R2.",
        "files",
        (
            KindField("url", "Endpoint", "URL of the store.", "url", required=True),
            KindField("region", "Region", default="us-east-1"),
            KindField("bucket", "Bucket", required=True),
            KindField("access_key", "Access key", required=True),
            KindField("secret_key", "Secret key", type="secret", required=True),
            _FOLDER,
        ),
        probe="storage",
        adds="hosts",
        keywords=("bucket", "object storage", "minio", "aws", "r2"),
    ),
    Kind(
        "gcs",
        "Google Cloud Storage",
        "Objects of a bucket, with the key of a service account.",
        "files",
        (
            KindField(
                "url", "Endpoint", "URL of the store.", "url", required=True, default="https://storage.googleapis.com"
            ),
            KindField("bucket", "Bucket", required=True),
            KindField("key", "Service account key", "The complete JSON file.", "multiline_secret", required=True),
            _FOLDER,
        ),
        probe="storage",
        adds="hosts",
        keywords=("bucket", "object storage", "google", "gcp"),
    ),
    Kind(
        "azure_blob",
        "Azure Blob Storage",
        "Blobs of a container, with the access key of a storage account.",
        "files",
        (
            KindField("url", "Endpoint", "Such as https://ACCOUNT.blob.core.windows.net.", "url", required=True),
            KindField("account", "Storage account", required=True),
            KindField("container", "Container", required=True),
            KindField("access_key", "Access key", type="secret", required=True),
            _FOLDER,
        ),
        probe="storage",
        adds="hosts",
        keywords=("container", "object storage", "microsoft", "adls"),
    ),
    Kind(
        "sftp",
        "SFTP",
        "Files over SSH.",
        "files",
        (
            HOST,
            KindField("port", "Port", type="number", default=22),
            USER,
            KindField("password", "Password", type="secret"),
            KindField("private_key", "Private key", "In PEM or OpenSSH format.", "multiline_secret"),
            KindField("host_key", "Host key", "Expected public key of the server: ssh-ed25519 AAAA...", required=True),
            _FOLDER,
        ),
        probe="storage",
        keywords=("ssh", "ftp"),
    ),
    Kind(
        "webdav",
        "WebDAV",
        "Files over HTTP, such as Nextcloud.",
        "files",
        (URL, USER, PASSWORD, HOSTS),
        adds="basic",
        probe="storage",
        keywords=("nextcloud", "owncloud"),
    ),
    Kind(
        "local_folder",
        "Folder of the server",
        "A folder that the operator of the server has opened for connections.",
        "files",
        (KindField("folder", "Name", "As the operator named the folder.", required=True),),
        probe="storage",
        ownership="shared",
        admins_only=True,
        keywords=("disk", "directory", "mount", "nfs", "smb", "share", "local"),
    ),
    Kind(
        "git",
        "Git server",
        "Repositories of GitHub, GitLab, Gitea, Forgejo or another server, over HTTPS.",
        "files",
        (
            KindField(
                "url",
                "Address",
                "Of the server, such as https://github.com, or of one repository.",
                "url",
                required=True,
            ),
            KindField(
                "service",
                "Service",
                "gitea: also Forgejo and Codeberg. other: changes cannot be opened.",
                "select",
                required=True,
                default="github",
                options=("github", "gitlab", "gitea", "other"),
            ),
            KindField(
                "api_url",
                "API address",
                "For opening changes: https://api.github.com, https://gitlab.example.org/api/v4, "
                "https://gitea.example.org/api/v1.",
                "url",
            ),
            KindField("user", "User", "Leave empty for GitHub, GitLab and Gitea.", advanced=True),
            KindField("token", "Token", "Leave empty for public repositories that are only read.", "secret"),
        ),
        adds="bearer",
        probe="git",
        keywords=("github", "gitlab", "gitea", "forgejo", "codeberg", "bitbucket", "repository", "code", "source"),
    ),
)
