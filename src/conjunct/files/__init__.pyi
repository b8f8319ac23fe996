"""Reading and writing files: tables, tags, models, and nothing half-written."""

from .reading import read_boolean as read_boolean
from .reading import read_review as read_review
from .reading import read_synonyms as read_synonyms
from .reading import read_table as read_table
from .streaming import Stream as Stream
from .streaming import stream as stream
from .writing import write_review as write_review
from .writing import write_table as write_table

"""For the other folders of conjunct."""

from .checkpoint import Checkpoint as Checkpoint
from .formats.base import FORMATS as FORMATS
from .formats.base import ReadOptions as ReadOptions
from .model import CLASSIFIER_FORMAT as CLASSIFIER_FORMAT
from .model import CLASSIFIER_VERSION as CLASSIFIER_VERSION
from .model import GROUPS_FORMAT as GROUPS_FORMAT
from .model import GROUPS_VERSION as GROUPS_VERSION
from .model import ClassifierFile as ClassifierFile
from .model import GroupRecord as GroupRecord
from .model import GroupsFile as GroupsFile
from .model import Labels as Labels
from .model import ModelFile as ModelFile
from .model import NewRows as NewRows
from .model import model_file as model_file
from .model import model_json as model_json
from .model import model_schema as model_schema
from .model import read_classifier as read_classifier
from .model import read_groups as read_groups
from .model import read_model as read_model
from .model import write_model as write_model
from .reading import ColumnView as ColumnView
from .reading import look as look
from .reading import naming_cells_of as naming_cells_of
from .reading import read_variables as read_variables
from .writing import as_csv as as_csv
from .writing import check_page_target as check_page_target
from .writing import check_table_target as check_table_target
from .writing import check_target as check_target
from .writing import is_sparse_file as is_sparse_file
from .writing import write_atomically as write_atomically
from .writing import write_sparse as write_sparse
